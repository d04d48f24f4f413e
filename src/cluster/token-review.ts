import { pathOf, type ApiClient, type ResourceType } from '../kubernetes/index.ts';

const tokenReviews: ResourceType = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', plural: 'tokenreviews', namespaced: false };

interface ReviewedToken {
  readonly status?: { readonly authenticated?: unknown; readonly audiences?: unknown; readonly user?: { readonly username?: unknown } };
}

/**
 * Who a token belongs to, e.g. `system:serviceaccount:shop:web-sallyport`; `undefined` where it is none that the API
 * server issued for this audience.
 *
 * @throws ApiError, ConnectionError where it cannot be found out
 */
export async function reviewToken(client: ApiClient, audience: string, token: string): Promise<string | undefined> {
  const body = { apiVersion: tokenReviews.apiVersion, kind: tokenReviews.kind, metadata: {}, spec: { token, audiences: [audience] } };
  const { status } = (await client.request({ method: 'POST', path: pathOf(tokenReviews), body })) as ReviewedToken;
  // An authenticator that knows no audiences would accept tokens that were meant for the API server.
  const isForUs = Array.isArray(status?.audiences) && status.audiences.includes(audience);
  const username = status?.user?.username;
  return status?.authenticated === true && isForUs && typeof username === 'string' ? username : undefined;
}
