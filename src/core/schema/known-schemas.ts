// Written by tools/known-schemas.ts from the official CRDs; do not edit.

/** `<name of the CRD>/<version> <hash of its schema>` to the bundles that have exactly this schema, oldest first. */
export const knownSchemas: Readonly<Record<string, string>> = {
  'backendlbpolicies.gateway.networking.k8s.io/v1alpha2 c5c208a126ded9194faee5c3c5f995251ee19ecb494a97d950e6a82ab26ce449':
    '1.1/experimental',
  'backendlbpolicies.gateway.networking.k8s.io/v1alpha2 e79725507adc980e9a3bb4241dfcba0056f787ab89ec48d3e872033ba8a07ba4':
    '1.1/experimental 1.2/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1 2c5910d04b119399419dbae7c1953954fced8d475fe4db3da1363ea7ca2bd337':
    '1.7/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1 406fa9c8af00db2a1d5a5da0b927dab77a38530a1a14e8597f1ad09c4eb6a9a3':
    '1.5/experimental 1.5/standard 1.6/experimental 1.6/standard 1.7/standard',
  'backendtlspolicies.gateway.networking.k8s.io/v1 acdce43f6474fb9f393d434b1f86e803677070e9ea2f1096f6ef350b06fa2804':
    '1.4/experimental 1.4/standard',
  'backendtlspolicies.gateway.networking.k8s.io/v1alpha2 7e10a096e5fade73dcf132619bac5ebe63cf3100ec8cec14172c484c8e31c925':
    '1.0/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1alpha3 2c5910d04b119399419dbae7c1953954fced8d475fe4db3da1363ea7ca2bd337':
    '1.7/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1alpha3 3d0b6c658c7f1088ff9681e45ed740a47672a0c737e5e689a4254254e844e5e1':
    '1.2/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1alpha3 406fa9c8af00db2a1d5a5da0b927dab77a38530a1a14e8597f1ad09c4eb6a9a3':
    '1.5/experimental 1.6/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1alpha3 acdce43f6474fb9f393d434b1f86e803677070e9ea2f1096f6ef350b06fa2804':
    '1.4/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1alpha3 dae994dfcf9ba8b8db6edeb3f607f1b35c97d8bf143029b8279cbec0e738c4c9':
    '1.1/experimental',
  'backendtlspolicies.gateway.networking.k8s.io/v1alpha3 daf61da8eed69b8ac1367a938843c1edeab2db29ab52fc432eaa91756808bdde':
    '1.3/experimental',
  'gatewayclasses.gateway.networking.k8s.io/v1 28e4e342955ac58a58abd2b4f8961e2fac9d37b0dffd36eccdfa597dc3adb5cb':
    '1.0/experimental',
  'gatewayclasses.gateway.networking.k8s.io/v1 50d4d11e4245349761686adfee9774c01784193babc5e902b52c89fc1d695083':
    '1.2/standard 1.3/standard',
  'gatewayclasses.gateway.networking.k8s.io/v1 5b60afe2e335965b3ab5524736be20276499887416fca99fd2f61240c48ca960':
    '1.1/experimental',
  'gatewayclasses.gateway.networking.k8s.io/v1 99a3681c4693a884700bcd8570341b630770431e45787cab01b08bd19b06faa0':
    '1.0/standard 1.1/standard',
  'gatewayclasses.gateway.networking.k8s.io/v1 c4f3817033d5aff680019a4d7f260aad12f68af1f790637bbb19d20172fe7b4a':
    '1.2/experimental 1.3/experimental 1.4/experimental 1.4/standard 1.5/experimental 1.5/standard 1.6/experimental 1.6/standard',
  'gatewayclasses.gateway.networking.k8s.io/v1 e69874c6fe715b99edc2b323d2a740bccc87a5bcb2b7f953abe245f5ddb0aeb5':
    '1.7/experimental 1.7/standard',
  'gatewayclasses.gateway.networking.k8s.io/v1beta1 28e4e342955ac58a58abd2b4f8961e2fac9d37b0dffd36eccdfa597dc3adb5cb':
    '1.0/experimental',
  'gatewayclasses.gateway.networking.k8s.io/v1beta1 50d4d11e4245349761686adfee9774c01784193babc5e902b52c89fc1d695083':
    '1.2/standard 1.3/standard',
  'gatewayclasses.gateway.networking.k8s.io/v1beta1 5b60afe2e335965b3ab5524736be20276499887416fca99fd2f61240c48ca960':
    '1.1/experimental',
  'gatewayclasses.gateway.networking.k8s.io/v1beta1 99a3681c4693a884700bcd8570341b630770431e45787cab01b08bd19b06faa0':
    '1.0/standard 1.1/standard',
  'gatewayclasses.gateway.networking.k8s.io/v1beta1 c4f3817033d5aff680019a4d7f260aad12f68af1f790637bbb19d20172fe7b4a':
    '1.2/experimental 1.3/experimental 1.4/experimental 1.4/standard 1.5/experimental 1.5/standard 1.6/experimental 1.6/standard',
  'gatewayclasses.gateway.networking.k8s.io/v1beta1 e69874c6fe715b99edc2b323d2a740bccc87a5bcb2b7f953abe245f5ddb0aeb5':
    '1.7/experimental 1.7/standard',
  'gateways.gateway.networking.k8s.io/v1 1591e9baed8a6250b297044b09c024100cb791f6a73f3c3cc94ea94bf2413d92':
    '1.0/experimental',
  'gateways.gateway.networking.k8s.io/v1 1675befabcff57cffc2ef2c0e67456ba1196dde6c04068215804f27374d9f1fd':
    '1.0/standard',
  'gateways.gateway.networking.k8s.io/v1 1882b0541bf572107b839e86186c0ace68508ecf05984d2bb6f446d0a9ff238f':
    '1.5/experimental',
  'gateways.gateway.networking.k8s.io/v1 6cd3b27d60b06b5eb23c98b1ce977585aea7bf9dce815c0286bf6000d156dfcc':
    '1.1/experimental',
  'gateways.gateway.networking.k8s.io/v1 6ce8a13858790c7d5c15b56078e0e00f3d05c6aaf2b88e36a9e1c7065839d0e3':
    '1.1/standard',
  'gateways.gateway.networking.k8s.io/v1 723549b75a30a84399964c3bd11e93ddbc36d11941a994a43ad2c3d1df779d57':
    '1.4/experimental',
  'gateways.gateway.networking.k8s.io/v1 88dfd7eab9317129f4155af0e2e52a45358ad643ae8273b2541e260ad155c191':
    '1.3/standard',
  'gateways.gateway.networking.k8s.io/v1 92a3632f74f48766074325dbcfc48a168446302265e577eb79faa5e6cbec3f3c':
    '1.6/experimental',
  'gateways.gateway.networking.k8s.io/v1 94beae1ef937e6de3f5e6a891f43f880083af670b211d60f409c2b52dddd2f46':
    '1.2/experimental',
  'gateways.gateway.networking.k8s.io/v1 97a223a529abb1d508cfdc39f7e139360523838a2b07b18e470116a22c25199a':
    '1.4/standard',
  'gateways.gateway.networking.k8s.io/v1 d84b69e40dd547d3758dab1b32b1c8bbac7a8e8b4af9500db27a7416807bbe67':
    '1.2/standard',
  'gateways.gateway.networking.k8s.io/v1 e2f7f072d73995a4845f7f5be68a6d5c1877d318ad6140fdf200d94b3ce929f3':
    '1.7/experimental',
  'gateways.gateway.networking.k8s.io/v1 ef3d942f3fbfacf2404e17fb77fa41e6a6d12210fbcc28f979a4d2e42e50ade7':
    '1.3/experimental',
  'gateways.gateway.networking.k8s.io/v1 f0ad41af80cdff5df9322e1b80988a779179cb431b75001807247f1f654d10df':
    '1.6/standard 1.7/standard',
  'gateways.gateway.networking.k8s.io/v1 f0dbd7427747a527ab939e9b989cd11c336b138f0e1a3cc5d8408760498c0e7f':
    '1.5/standard',
  'gateways.gateway.networking.k8s.io/v1beta1 1591e9baed8a6250b297044b09c024100cb791f6a73f3c3cc94ea94bf2413d92':
    '1.0/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 1675befabcff57cffc2ef2c0e67456ba1196dde6c04068215804f27374d9f1fd':
    '1.0/standard',
  'gateways.gateway.networking.k8s.io/v1beta1 1882b0541bf572107b839e86186c0ace68508ecf05984d2bb6f446d0a9ff238f':
    '1.5/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 6cd3b27d60b06b5eb23c98b1ce977585aea7bf9dce815c0286bf6000d156dfcc':
    '1.1/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 6ce8a13858790c7d5c15b56078e0e00f3d05c6aaf2b88e36a9e1c7065839d0e3':
    '1.1/standard',
  'gateways.gateway.networking.k8s.io/v1beta1 723549b75a30a84399964c3bd11e93ddbc36d11941a994a43ad2c3d1df779d57':
    '1.4/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 88dfd7eab9317129f4155af0e2e52a45358ad643ae8273b2541e260ad155c191':
    '1.3/standard',
  'gateways.gateway.networking.k8s.io/v1beta1 92a3632f74f48766074325dbcfc48a168446302265e577eb79faa5e6cbec3f3c':
    '1.6/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 94beae1ef937e6de3f5e6a891f43f880083af670b211d60f409c2b52dddd2f46':
    '1.2/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 97a223a529abb1d508cfdc39f7e139360523838a2b07b18e470116a22c25199a':
    '1.4/standard',
  'gateways.gateway.networking.k8s.io/v1beta1 d84b69e40dd547d3758dab1b32b1c8bbac7a8e8b4af9500db27a7416807bbe67':
    '1.2/standard',
  'gateways.gateway.networking.k8s.io/v1beta1 e2f7f072d73995a4845f7f5be68a6d5c1877d318ad6140fdf200d94b3ce929f3':
    '1.7/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 ef3d942f3fbfacf2404e17fb77fa41e6a6d12210fbcc28f979a4d2e42e50ade7':
    '1.3/experimental',
  'gateways.gateway.networking.k8s.io/v1beta1 f0ad41af80cdff5df9322e1b80988a779179cb431b75001807247f1f654d10df':
    '1.6/standard 1.7/standard',
  'gateways.gateway.networking.k8s.io/v1beta1 f0dbd7427747a527ab939e9b989cd11c336b138f0e1a3cc5d8408760498c0e7f':
    '1.5/standard',
  'grpcroutes.gateway.networking.k8s.io/v1 0493e5b9c552f72d65f51fbdbe58dba7e1a518d991b3cb25fe4c583a5108dfe5':
    '1.3/standard',
  'grpcroutes.gateway.networking.k8s.io/v1 0f87f3b08f7c0b4f79e8cf283792443acd2847f5afff28f618db7f8f234d047f':
    '1.1/standard',
  'grpcroutes.gateway.networking.k8s.io/v1 1d98c34fa494a002eebfd21703b819ec655fdbf84c764b8af3198cf7f0fb0e56':
    '1.2/standard',
  'grpcroutes.gateway.networking.k8s.io/v1 24d10c5d663e1083cada3035d967ff9bb4ebfa4fd1bd45ef0c2f3614760f1369':
    '1.7/standard',
  'grpcroutes.gateway.networking.k8s.io/v1 29a9a303dcf87cd4203c9a6fa3ed9fe85a0c6ec33d5c760f1917d4aa9341d29d':
    '1.1/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1 31e7f98f6d7e1418925a316635427cec30b57d8d91c2d8357a6d6aa0b1c59fe4':
    '1.4/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1 64034951285be066b50fad25a043c6a175c84f9821af4908d39e3842e9c8ead9':
    '1.4/standard 1.5/standard 1.6/standard',
  'grpcroutes.gateway.networking.k8s.io/v1 82cf353cdc9b7baf9ed7b59d747a6a7cbb297c84206442e7f349454cc4a8d1bf':
    '1.7/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1 83e5421d0fb298f765327ca7c61b3f7cfa3ec9e702602cfaecefdcbbd83e99c5':
    '1.1/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1 8d8842fbdf3d574d3a51511de7bc57199e65f2082953df8c61285cab534658e5':
    '1.2/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1 b016dcbe7e57e9ada56592fcdae71e0c54b1949f72b2f7451616f813099f6c18':
    '1.6/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1 f1a663bb386a5857065a31c44ff7f9d7219ca3819424bac98193ae282591c20d':
    '1.3/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1 ff7d1e2aa68447fbb3adb3b0d9dac86db4bd0fc40cccdc15d5f58100432764cd':
    '1.5/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1alpha2 29a9a303dcf87cd4203c9a6fa3ed9fe85a0c6ec33d5c760f1917d4aa9341d29d':
    '1.1/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1alpha2 83e5421d0fb298f765327ca7c61b3f7cfa3ec9e702602cfaecefdcbbd83e99c5':
    '1.1/experimental',
  'grpcroutes.gateway.networking.k8s.io/v1alpha2 b998add9654f513c5f7747ba59dc85f1f24418b7c1eeca6c7e144b425c8347e5':
    '1.0/experimental',
  'httproutes.gateway.networking.k8s.io/v1 24c9873f841530e17842e13270662e0b39b0642e1aa6fb5d84a278d2925aa6db':
    '1.5/standard',
  'httproutes.gateway.networking.k8s.io/v1 2cb591b0f24d0f7e9f8bb7ae5ebc70271ffb4c536638ed9ef94d18bd8c51ec7d':
    '1.1/experimental',
  'httproutes.gateway.networking.k8s.io/v1 2deb5d6b9400f09dd8d0b8f390c28d1af3eab662eef2dbc32f9f6a45332a1759':
    '1.0/experimental',
  'httproutes.gateway.networking.k8s.io/v1 4033c89bcd5b4ee4fc97af4210205d9aa52c1ac1792da348d8f895cb350cc879':
    '1.6/experimental',
  'httproutes.gateway.networking.k8s.io/v1 48d9203cd79a9db6deedac900972175893546aeb47807f61d3041489a7af53b3':
    '1.1/standard',
  'httproutes.gateway.networking.k8s.io/v1 4ca76ffe738e97be80125e340c366a2c8c868f4b1051f2ee4346913d9707a3b1':
    '1.7/experimental',
  'httproutes.gateway.networking.k8s.io/v1 719cc23f31c959af0e2dfc631da2ee9829174ee2b9ff2a62213aef75dae5df59':
    '1.3/standard',
  'httproutes.gateway.networking.k8s.io/v1 779f9a38c5bd04378a424920725979e5fab7fac223a0c609dd51ae59ebba96e3':
    '1.5/experimental',
  'httproutes.gateway.networking.k8s.io/v1 77a6aa1d9c5fb4f9b80918fde4e11bfa02c61d0997ed99f89f0ee1d8a29f1bf4':
    '1.4/experimental',
  'httproutes.gateway.networking.k8s.io/v1 8917e11f77c1904218573e56ec3d618d9843d3088d8abc088c08d2b9774bd2a4':
    '1.5/experimental',
  'httproutes.gateway.networking.k8s.io/v1 b26d1957af6e94a4295640995776c7199f40ec753a697cf5b0fef92ff0a89063':
    '1.5/standard 1.6/standard',
  'httproutes.gateway.networking.k8s.io/v1 b4278413d4e97df17bf50008d74dc6e033f6b24af3fe14589ebc2f79f654ca1e':
    '1.1/experimental',
  'httproutes.gateway.networking.k8s.io/v1 c78bb35be6ce7e8772b57aca05cf7a61c94c16a68d46084677e27b6a92c1aaab':
    '1.3/experimental',
  'httproutes.gateway.networking.k8s.io/v1 d17ae9e56bc4eae3b55a819ec1ee819e1eda1b87699620344f96e9163e72bd42':
    '1.4/standard',
  'httproutes.gateway.networking.k8s.io/v1 d613aa270087b81c785b3761682614944d0ee6bf619b920c86d4deac987c609b':
    '1.2/experimental',
  'httproutes.gateway.networking.k8s.io/v1 e7febe10516d235f48f4df319efad89fcfb5504f5c415ca454c2e2d09fcc3f1d':
    '1.7/standard',
  'httproutes.gateway.networking.k8s.io/v1 ebd8a98d7e1fc08adcbc72dcce31f23f7c82f44a400147088c5e902763e32c26':
    '1.0/standard',
  'httproutes.gateway.networking.k8s.io/v1 fb8b3bcb42e5baa9a2028a962290d33c3da647de4c9f9edaf80dc464cca10aa9':
    '1.2/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 24c9873f841530e17842e13270662e0b39b0642e1aa6fb5d84a278d2925aa6db':
    '1.5/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 2cb591b0f24d0f7e9f8bb7ae5ebc70271ffb4c536638ed9ef94d18bd8c51ec7d':
    '1.1/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 2deb5d6b9400f09dd8d0b8f390c28d1af3eab662eef2dbc32f9f6a45332a1759':
    '1.0/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 4033c89bcd5b4ee4fc97af4210205d9aa52c1ac1792da348d8f895cb350cc879':
    '1.6/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 48d9203cd79a9db6deedac900972175893546aeb47807f61d3041489a7af53b3':
    '1.1/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 4ca76ffe738e97be80125e340c366a2c8c868f4b1051f2ee4346913d9707a3b1':
    '1.7/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 719cc23f31c959af0e2dfc631da2ee9829174ee2b9ff2a62213aef75dae5df59':
    '1.3/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 779f9a38c5bd04378a424920725979e5fab7fac223a0c609dd51ae59ebba96e3':
    '1.5/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 77a6aa1d9c5fb4f9b80918fde4e11bfa02c61d0997ed99f89f0ee1d8a29f1bf4':
    '1.4/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 8917e11f77c1904218573e56ec3d618d9843d3088d8abc088c08d2b9774bd2a4':
    '1.5/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 b26d1957af6e94a4295640995776c7199f40ec753a697cf5b0fef92ff0a89063':
    '1.5/standard 1.6/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 b4278413d4e97df17bf50008d74dc6e033f6b24af3fe14589ebc2f79f654ca1e':
    '1.1/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 c78bb35be6ce7e8772b57aca05cf7a61c94c16a68d46084677e27b6a92c1aaab':
    '1.3/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 d17ae9e56bc4eae3b55a819ec1ee819e1eda1b87699620344f96e9163e72bd42':
    '1.4/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 d613aa270087b81c785b3761682614944d0ee6bf619b920c86d4deac987c609b':
    '1.2/experimental',
  'httproutes.gateway.networking.k8s.io/v1beta1 e7febe10516d235f48f4df319efad89fcfb5504f5c415ca454c2e2d09fcc3f1d':
    '1.7/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 ebd8a98d7e1fc08adcbc72dcce31f23f7c82f44a400147088c5e902763e32c26':
    '1.0/standard',
  'httproutes.gateway.networking.k8s.io/v1beta1 fb8b3bcb42e5baa9a2028a962290d33c3da647de4c9f9edaf80dc464cca10aa9':
    '1.2/standard',
  'listenersets.gateway.networking.k8s.io/v1 0a94592217cae3dc7a2b8418163facd9c5e6bbe289f57b08fbea31ddbe9af78f':
    '1.5/experimental 1.5/standard 1.6/experimental 1.6/standard 1.7/standard',
  'listenersets.gateway.networking.k8s.io/v1 35e4dac1671ace480882a58cc560a67e5fb2e9ba40427adbc4eb4e98ad2f7240':
    '1.7/experimental',
  'referencegrants.gateway.networking.k8s.io/v1 0d75050d5d2097316e28c10f6aa395a7502b5c217a659878ed6b02b1f4ea9681':
    '1.5/experimental 1.5/standard',
  'referencegrants.gateway.networking.k8s.io/v1 ab8494215249fb2f0618244f3b70adcc7045a214b2afb0ea788bb60eed5bf450':
    '1.6/experimental 1.6/standard 1.7/experimental 1.7/standard',
  'referencegrants.gateway.networking.k8s.io/v1alpha2 96f639165f428ebfb87fd5e0c1bf41e310b320411d496e8bdb00e80c71bcb5fa':
    '1.0/experimental 1.0/standard 1.1/experimental',
  'referencegrants.gateway.networking.k8s.io/v1beta1 0d75050d5d2097316e28c10f6aa395a7502b5c217a659878ed6b02b1f4ea9681':
    '1.4/experimental 1.4/standard 1.5/experimental 1.5/standard',
  'referencegrants.gateway.networking.k8s.io/v1beta1 96f639165f428ebfb87fd5e0c1bf41e310b320411d496e8bdb00e80c71bcb5fa':
    '1.0/experimental 1.0/standard 1.1/experimental 1.1/standard 1.2/experimental 1.2/standard 1.3/experimental 1.3/standard',
  'referencegrants.gateway.networking.k8s.io/v1beta1 ab8494215249fb2f0618244f3b70adcc7045a214b2afb0ea788bb60eed5bf450':
    '1.6/experimental 1.6/standard 1.7/experimental 1.7/standard',
  'tcproutes.gateway.networking.k8s.io/v1 5ee9bcc0fd879cc188363d9a60c11e824c4cd6064beb41c5fb84969598e17f75':
    '1.7/experimental',
  'tcproutes.gateway.networking.k8s.io/v1 d65bcb65b0a5f9c2e70fbd24a6b48790a9ca35b3aa97a6c11cad66fc4d2dae9b':
    '1.6/experimental',
  'tcproutes.gateway.networking.k8s.io/v1 f9ee12b91e1479eadb9da9c87b44b905a9bcfd488f442279ad175a0eab603149':
    '1.6/standard 1.7/standard',
  'tcproutes.gateway.networking.k8s.io/v1alpha2 1bbe08fa59ab3af4eea5e5689593c6a752870a11f8ecd636f08756b3eb8742b3':
    '1.2/experimental 1.3/experimental',
  'tcproutes.gateway.networking.k8s.io/v1alpha2 3791d4e3f3d92490818c259665b92fe5f032ad1896d323b6a6c3bff0d2cae4d8':
    '1.4/experimental 1.5/experimental 1.6/experimental',
  'tcproutes.gateway.networking.k8s.io/v1alpha2 63b69bcb8169c34ad765bc81985638b61124117d49336972ffd637b89539577a':
    '1.7/experimental',
  'tcproutes.gateway.networking.k8s.io/v1alpha2 7190b69febd41e4757ec5b21c9c0fdd6efc40a01ae625cca1365a5d1e04c89f4':
    '1.0/experimental 1.1/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1 08bded51b1ae0a5173331a8c5c3c5815f0649a6ff252a0fe08050fad27aec2b8':
    '1.6/standard 1.7/standard',
  'tlsroutes.gateway.networking.k8s.io/v1 5bc5971862ee14f5dd63b667d3ebe616c6666c877812395b5fabdd3a98725bb2':
    '1.6/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1 79b56a5970a280d1e62bbdac37d4d267cb79dde048caeb44da7077bc9dac33b3':
    '1.7/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1 a8c37934b48e5390ddd1d585833085ce5f6dc3a57a574136d878116e0ab3bc9d':
    '1.5/standard',
  'tlsroutes.gateway.networking.k8s.io/v1 bf48363e269862c5eb0b3b8ee63b3ccb4f7d12e31afd572ee87935cd2960b9a0':
    '1.5/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha2 01245fbbbc35315ffb1bebef4a96b1d47127d4c31c2fce4e238657d6c181cdb7':
    '1.4/experimental 1.5/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha2 48b395cb2fdd40060a1d6f4272b79e974733f32ae80b4cc0d72404ed14087ce4':
    '1.0/experimental 1.1/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha2 b6d58fe94c3dc78ac47607a845729db454c96a3cbc65366ec2d9f3f840eb0054':
    '1.6/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha2 c92acaf7f75015ac3cb556a105a4aae3c3d09d1a6a6ea08e7fdadb628f6b7e4a':
    '1.2/experimental 1.3/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha2 cc66a924ae7010d30fa9dbbbb1e7d4cd2e8b08e7e54dd385b75a36ba78608d72':
    '1.7/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha3 5bc5971862ee14f5dd63b667d3ebe616c6666c877812395b5fabdd3a98725bb2':
    '1.6/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha3 79b56a5970a280d1e62bbdac37d4d267cb79dde048caeb44da7077bc9dac33b3':
    '1.7/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha3 bf48363e269862c5eb0b3b8ee63b3ccb4f7d12e31afd572ee87935cd2960b9a0':
    '1.5/experimental',
  'tlsroutes.gateway.networking.k8s.io/v1alpha3 f5e1b6250be73ea31973cdfa609faac1497361d020c6da5d5246436ccaca1ca6':
    '1.4/experimental',
  'udproutes.gateway.networking.k8s.io/v1 5ee9bcc0fd879cc188363d9a60c11e824c4cd6064beb41c5fb84969598e17f75':
    '1.7/experimental',
  'udproutes.gateway.networking.k8s.io/v1 d65bcb65b0a5f9c2e70fbd24a6b48790a9ca35b3aa97a6c11cad66fc4d2dae9b':
    '1.6/experimental',
  'udproutes.gateway.networking.k8s.io/v1 f9ee12b91e1479eadb9da9c87b44b905a9bcfd488f442279ad175a0eab603149':
    '1.6/standard 1.7/standard',
  'udproutes.gateway.networking.k8s.io/v1alpha2 1bbe08fa59ab3af4eea5e5689593c6a752870a11f8ecd636f08756b3eb8742b3':
    '1.2/experimental 1.3/experimental',
  'udproutes.gateway.networking.k8s.io/v1alpha2 3791d4e3f3d92490818c259665b92fe5f032ad1896d323b6a6c3bff0d2cae4d8':
    '1.4/experimental 1.5/experimental 1.6/experimental',
  'udproutes.gateway.networking.k8s.io/v1alpha2 63b69bcb8169c34ad765bc81985638b61124117d49336972ffd637b89539577a':
    '1.7/experimental',
  'udproutes.gateway.networking.k8s.io/v1alpha2 7190b69febd41e4757ec5b21c9c0fdd6efc40a01ae625cca1365a5d1e04c89f4':
    '1.0/experimental 1.1/experimental',
  'xbackends.gateway.networking.x-k8s.io/v1alpha1 8fde35834eac0278ceafb33f71a4091345e2b61a61cf24ff38f4deba9bcd2ba4':
    '1.7/experimental',
  'xbackends.gateway.networking.x-k8s.io/v1alpha1 9c04ddde1b79edd7ba974b58eacc1f168073b787c8df90149228b3fdb825797b':
    '1.6/experimental',
  'xbackendtrafficpolicies.gateway.networking.x-k8s.io/v1alpha1 015c236e764f58b99a74260c381c884f187e2f2de7baba242685d2f3edfaefb3':
    '1.3/experimental',
  'xbackendtrafficpolicies.gateway.networking.x-k8s.io/v1alpha1 67e7d9be40b3eba750e25a90c202f7179dae32891d00d4151dbf04fbaebf7e25':
    '1.5/experimental',
  'xbackendtrafficpolicies.gateway.networking.x-k8s.io/v1alpha1 998a615084b5b9ab2a9500b5ec2cc7f8d126aadb55e005b71aad327bd3d125e9':
    '1.4/experimental',
  'xbackendtrafficpolicies.gateway.networking.x-k8s.io/v1alpha1 9d922c94a9591db44a86834c54205df41a2df5f3fb3a2ba515d3e51ee5002f95':
    '1.6/experimental',
  'xbackendtrafficpolicies.gateway.networking.x-k8s.io/v1alpha1 a1ba4eb107bb57eb6ccc178e669d8df9c60101bc115a225d43e01d40332c0c98':
    '1.7/experimental',
  'xlistenersets.gateway.networking.x-k8s.io/v1alpha1 03ab98e3284545a615491fa41a96820c08bda7d43e6ec30017937e1949c28275':
    '1.3/experimental',
  'xlistenersets.gateway.networking.x-k8s.io/v1alpha1 9e2f172d9fe8cba9751246a6b7f041676ba671e7a09689aa423ea51c8c0e8785':
    '1.4/experimental',
  'xmeshes.gateway.networking.x-k8s.io/v1alpha1 502e097b350e9a243ac24368529329866d7c84070dbbdd354a614e1f50975748':
    '1.4/experimental 1.5/experimental 1.6/experimental',
  'xmeshes.gateway.networking.x-k8s.io/v1alpha1 cf998b3e5aa2dd05b1154a9e705f0de9b1654739982e0ce7eafca85663f6d88f':
    '1.7/experimental',
  'xtelemetrypolicies.gateway.networking.x-k8s.io/v1alpha1 35bbf657468eed8f8ae36724e749fcda54ccb9d64c0f12c71c2fd8e5f5b96b0b':
    '1.7/experimental',
};
