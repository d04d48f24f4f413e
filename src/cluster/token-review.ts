import { pathOf, type ApiClient, type ResourceType } from '../kubernetes/index.ts';

const tokenReviews: ResourceType = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
};

interface ReviewedToken {
  readonly status?: {
    readonly authenticated?: unknown;
    readonly audiences?: unknown;
    readonly user?: { readonly username?: unknown };
  };
}

/**
 * Returns the username of a token, e.g. `system:serviceaccount:shop:web-sallyport`. `undefined` if the API server did not issue it
 * for this audience.
 *
 * @throws ApiError, ConnectionError if the review fails
 */
export async function reviewToken(client: ApiClient, audience: string, token: string): Promise<string | undefined> {
  const body = {
    apiVersion: tokenReviews.apiVersion,
    kind: tokenReviews.kind,
    metadata: {},
    spec: { token, audiences: [audience] },
  };
  const { status } = (await client.request({ method: 'POST', path: pathOf(tokenReviews), body })) as ReviewedToken;
  // An authenticator without support for audiences would accept tokens for the API server.
  const isForUs = Array.isArray(status?.audiences) && status.audiences.includes(audience);
  const username = status?.user?.username;
  return status?.authenticated === true && isForUs && typeof username === 'string' ? username : undefined;
}
