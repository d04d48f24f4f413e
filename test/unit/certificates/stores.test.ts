import { bundleStoreContract, secretStoreContract } from '../../contract/certificate-stores.ts';
import { MemoryBundleStore, MemorySecretStore } from '../../support/certificate-stores.ts';

const close = async (): Promise<void> => undefined;

secretStoreContract('the tests', async () => ({ store: new MemorySecretStore(), close }));

bundleStoreContract('the tests', async () => {
  const store = new MemoryBundleStore();
  store.cell.write([]);
  return {
    store,
    touch: async () => store.cell.write(store.cell.value),
    remove: async () => store.cell.write(undefined),
    close,
    certificates: ['one', 'other'],
  };
});
