export { defineEmission, defineIndex, defineInput, defineQuery, write, type Write } from './declare.ts';
export type { EmissionChange } from './emission-table.ts';
export { deepEqual } from './equal.ts';
export { createKernel, type Delta, type Kernel, type KernelDeclarations, type Statistics } from './kernel.ts';
export type { Affected, Overlay } from './overlay.ts';
export type { Emission, Emitted, Index, IndexEntry, Input, Population, Query, Reader } from './reader.ts';
export { lowerBound } from './sorted-strings.ts';
