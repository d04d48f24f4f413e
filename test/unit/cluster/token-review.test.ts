import { describe, expect, test } from '@jest/globals';
import { reviewToken } from '../../../src/cluster/token-review.ts';
import type { ApiClient, ApiRequest } from '../../../src/kubernetes/index.ts';

const user = { username: 'system:serviceaccount:shop:web-sallyport' };

/** An API server that answers every review with this status. */
function server(status: unknown) {
  const requests: ApiRequest[] = [];
  const client: Pick<ApiClient, 'request'> = {
    async request(request) {
      requests.push(request);
      return { status };
    },
  };
  return { client: client as ApiClient, requests };
}

describe('review of tokens', () => {
  test('asks for one audience, and tells whose the token is', async () => {
    const { client, requests } = server({ authenticated: true, audiences: ['ours'], user });
    expect(await reviewToken(client, 'ours', 't0ken')).toBe(user.username);
    expect(requests).toMatchObject([
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { spec: { token: 't0ken', audiences: ['ours'] } },
      },
    ]);
  });

  test.each<[string, unknown]>([
    ['a token that is not authenticated', { authenticated: false, audiences: ['ours'], user }],
    ['a token for another audience', { authenticated: true, audiences: ['https://kubernetes.default.svc'], user }],
    ['an authenticator that knows no audiences', { authenticated: true, user }],
    ['an answer without user', { authenticated: true, audiences: ['ours'] }],
    ['no status', undefined],
  ])('%s proves nothing', async (_name, status) => {
    expect(await reviewToken(server(status).client, 'ours', 't0ken')).toBeUndefined();
  });
});
