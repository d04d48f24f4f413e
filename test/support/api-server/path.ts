/** What a URL path of the API asks for; empty texts where it does not say. */
export interface ApiPath {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
}

export function parsePath(pathname: string): ApiPath {
  const [root, ...parts] = pathname.split('/').slice(1).map(decodeURIComponent);
  const group = root === 'api' ? '' : (parts.shift() ?? '');
  const version = parts.shift() ?? '';
  // `namespaces/shop` is an object itself, `namespaces/shop/configmaps` a list in it.
  const isNamespaced = parts[0] === 'namespaces' && parts.length > 2 && parts[2] !== 'status';
  const [, namespace = ''] = isNamespaced ? parts.splice(0, 2) : [];
  const [plural = '', name = '', subresource = ''] = parts;
  return { group, version, namespace, plural, name, subresource };
}
