/**
 * The versions of A2A, each as a dialect that turns wire forms into the neutral model and back, and the choice
 * between them.
 *
 * @module
 */
export {
  type CardChoice,
  ChoiceError,
  chooseForCard,
  chooseForMethod,
  chooseForPath,
  dialectOf,
  type MethodChoice,
  type MethodHints,
  versionOf,
  versions,
} from './negotiation.ts';
export { compatKey } from './compat-metadata.ts';
export {
  type Codec,
  type Dialect,
  type EventReader,
  type EventWriter,
  methodOf,
  type RequestCodec,
  type RequestOf,
  type RestErrorCodec,
  type RestRoute,
  type ResultCodec,
  type ResultOf,
  type RpcError,
  type RpcErrorCodec,
  type StreamOpening,
  type Unary,
} from './dialect.ts';
export { leniently, type Loss, type Losses, type Reading, strictly } from './translation-loss.ts';
export { read, type ReadOptions, type Translatable, type TranslatableName, write } from './translate.ts';
export { v0_1 } from './v0_1/index.ts';
export { v0_3 } from './v0_3/index.ts';
export { v0_3_rest } from './v0_3_rest/index.ts';
export { v1_0 } from './v1_0/index.ts';
