// Which CEL rule of the official CRDs each of our demands stands for. Official texts are never kept: a hash stands for each.

/** Demand, rule and variant → hashes of the official rules that it covers. One rule may stand at places with demands of their own. */
export const coveredRules: Readonly<Record<string, readonly string[]>> = {
  'address-hostname': ['dac2850f16ae'],
  'address-hostname/with-value': ['b3d66a64701e'],
  'address-repeated': ['1ff4561772c9', '43360f8ad2d6'],
  'address-repeated/with-value': ['ada6b8da7bd7', '748ffaa3a983'],
  'address-routability': ['591bc5c26ce2'],
  'backend-authority': ['65c1b111f96f', 'b34e39dbd535'],
  'backend-authority/field': ['7a4c8606ed38'],
  'backend-authority/v1alpha2': ['c77d139f72ab', '95dfd1e8eb86'],
  'backend-port-forbidden': ['91f0c17f10a5'],
  'backend-port-name': ['656319bc5fda'],
  'backend-protocol-tls': ['ebef1fd93e86', '1a2558c2c4b3', '19c143608636'],
  'backend-request-timeout': ['3f02004fba84'],
  'cors-wildcard/headers': ['e2610261534d'],
  'cors-wildcard/methods': ['e2610261534d'],
  'cors-wildcard/origins': ['e2610261534d'],
  'external-hostname-internal': ['d57034998f76'],
  'filter-repeated/cors': ['ee6a308c410a'],
  'filter-repeated/v1.0': ['501e61ba52ca', '226cc5e317a8', 'c1f6cb742f0d', '61ed15b8b73f'],
  'filter-union/filter': [
    '7b8cf86874d8', 'eb3032de7631', 'c0838ca9ab63', 'a900d763727e', 'c2c4ceb30c93', '479cd4bff5ae', 'bec67f21a55a',
    '96f72312eb7b', 'bc36c2fa8462', '769cafeb49d0', '28f68457ca1d', '32fcae1cb6e6', '1b5e24ab1898', '53315200e53d',
    'c8cbd34fb929', '3f23e50c287f',
  ],
  'filter-union/path': ['85716a2b530d', 'c04f03f45be6', '4dba3b1d65ee', '02cf28521adb'],
  'fraction-above-one': ['c7c8b7bb79e4'],
  'grpc-method-match': ['6cb810174eb6', 'fb8615af1d49', '7797fc313149'],
  'listener-certificate-missing': ['f161b726ab7c'],
  'listener-certificate-missing/v1.0': ['c7d8d27c7cac'],
  'listener-protocol-fields/filters': ['2c84d2895e8d'],
  'listener-protocol-fields/https': ['aec2bd596a6d'],
  'listener-protocol-fields/plain': ['78a772397706'],
  'listener-protocol-fields/secure': ['4afa0e1b691f'],
  'listener-protocol-fields/stream': ['e658cd99f565'],
  'listener-protocol-fields/tls': ['79a484463556'],
  'listener-repeated': ['e3e62c2ad493', 'd31959b5efcf'],
  'mirror-share-repeated': ['2179202e3c83'],
  'parent-repeated/sectionName': ['c931cd547ca6', 'e906342c6f92'],
  'parent-repeated/sectionName-or-port': ['30e99257d51d', '8392cce9fda2'],
  'path-syntax': [
    'd1b1dcc5e58d', '2a730cbab54f', '8c3f86ff5007', 'ced0ffeab40b', '16add9e26d63', '5f510e9128a4', '209894350d71',
    '0c441c9dd7a1', 'c36405e2d074', '67736b8f4210',
  ],
  'prefix-replacement': ['14c17d520e25', '0fa5a331dde4', '06e14dab4fdb', 'bf9fd4333dc7'],
  'qualified-key/infrastructure': ['9d8358ece358', '4b9766f719f7'],
  'qualified-key/selector': ['2cb284431377'],
  'redirect-with-backends': ['80d5779a116f'],
  'redirect-with-rewrite': ['24c3fdad46b3'],
  'retry-interval/budget': ['6f07595e3091'],
  'retry-interval/rate': ['e95bafc302b7'],
  'rule-name-repeated': ['5d343ad9ee1d'],
  'server-name-is-ip': ['0843be6f6939'],
  'service-port-missing': ['089ed26a9f0f'],
  'session-without-end/cookie': ['b58d268669c2'],
  'session-without-end/cookieConfig': ['7a1ec120700a'],
  'target-repeated': ['04db233212a7', 'ae7c04b5d4cc'],
  'too-many-matches': ['837b88f53c5a', 'dfef9215af4a'],
  'tracing-missing': ['b105fa7dec2a'],
  'trust-bundle-namespace': ['3c32699255c6'],
  'union-member/attribute': ['33606a03e151', 'd57ce6fcb93d', '14da47b95050'],
  'union-member/backend-validation': ['cc86976fbd40'],
  'union-member/client-certificate': ['217c2b8d4828'],
  'union-member/cookieConfig': ['14f22f613344'],
  'union-member/externalAuth': ['fbee517ef220', '1add1dca67de', '43a774e090df', 'e2083e9fe8d0'],
  'union-member/hostname-backend': ['05b73fcd4002'],
  'union-member/parent-based-sampling': ['1564d86aa0bc'],
  'union-member/selector-backend': ['2ef2f889e61d', 'd7aaa4e36b31'],
  'union-member/session': ['b9916a8906bd', '42c92c84803e', 'd5d10b1a2603', '4d46b9eb5dca'],
  'union-member/subjectAltName': ['9f2f8a205c20', 'b8b9b47523e5', '6f0bb440cd43', '3aadac4250cc'],
  'union-member/tracing': [
    '1564d86aa0bc', 'f4964977ebc2', 'a16dceda9c9a', '3f6be77b5a07', 'a7ff9fe83920', '46092402dd5c',
  ],
};

/**
 * Rules that say once more what the schema beside them says already: the types of a path match are an enum, hostnames
 * of TLSRoutes have a pattern, names of listeners and ports of TLS settings are the keys of their lists.
 */
export const rulesOfSchema: readonly string[] = ['419307373c26', 'b3c66e248da8', '1267f0554fa2', '20123a065b59', 'b31a373d8a00'];

/** That controllerName is immutable: it takes the old object to see, and where there is one, the API server has compared. */
export const rulesOfChange: readonly string[] = ['f4f4adcfb233'];
