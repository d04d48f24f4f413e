import type { Resource } from '../../resources/resource.ts';

/** The specification of an XBackend as read. */
export type XBackendSpec = NonNullable<Resource<'XBackend'>['spec']>;
