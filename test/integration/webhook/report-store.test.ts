import { createClient } from '../../../src/kubernetes/index.ts';
import { reportStoreContract } from '../../contract/report-store.ts';
import { credentialsFor } from '../../support/credentials.ts';
import { startFakeApiServer } from '../../support/fake-api-server.ts';

reportStoreContract('the fake', async () => {
  const server = await startFakeApiServer();
  const client = createClient(credentialsFor(server.url));
  return {
    client,
    async close() {
      await client.close();
      await server.close();
    },
  };
});
