// What BackendTLSPolicies say of the connections to backends, and whether they have a say.

export const unchecked = 'Until then, requests to the target get 500, because the backend cannot be verified.';
