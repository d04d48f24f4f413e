/** Prints all bundles, oldest first: v1.0.0/standard v1.0.0/experimental ... */
import { channels, minors } from '../../src/core/schema/availability.ts';
import { releases } from '../../src/core/schema/bundle.ts';

console.log(minors.flatMap((minor) => channels.map((channel) => `${releases[minor]}/${channel}`)).join(' '));
