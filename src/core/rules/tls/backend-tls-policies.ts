// The TLS settings in BackendTLSPolicies and XBackends, and whether these are in effect.

export const unchecked = 'Until then, requests to the target get 500, because the backend cannot be verified.';
