import { main } from './cli/program.ts';

await main(process.argv);
