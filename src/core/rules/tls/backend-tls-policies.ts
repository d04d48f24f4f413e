// What BackendTLSPolicies say of the connections to backends, and whether they have a say.

export const unchecked = 'Until then its requests are answered 500, since nobody could tell whom they reach.';
