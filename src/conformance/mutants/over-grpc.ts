import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import type { MutantAgent } from './harness/mutant-agent.ts';

/** Mutants whose mutation exists in HTTP or JSON only: statuses, texts in place of other types, missing defaults. */
const jsonMutations: ReadonlySet<string> = new Set([
  'auth.anonymous:not-found',
  'auth.forbidden-hint:mute',
  'auth.forbidden:as-invalid',
  'auth.forbidden:as-unknown',
  'auth.secret:echo',
  'auth.status:forbidden',
  'binding.same-errors:differ',
  'binding.same-list:other-store',
  'http.utf8:latin',
  'http.utf8:latin-stream',
  'list.last-page:null-token',
  'list.no-artifacts:empty-list',
  'list.page-size:clamps',
  'model.artifact-event:append-text',
  'model.artifact:no-parts',
  'model.message:content',
  'model.message:no-parts',
  'model.part:text-object',
  'model.status:strange-state',
  'model.status:two-l',
  'model.status:unspecified',
  'model.task:history-object',
  'model.task:numeric-id',
  'model.timestamp:date-text',
  'send.bytes:base64url',
  'stream.chunks:loses-chunk',
  'stream.opens:json',
  'validation.deep:breaks',
  'validation.large:takes',
  'validation.unknown-fields:refuses',
]);

/** Rules that run over gRPC; those of the card do not depend on the transport. */
const grpcRules: ReadonlySet<string> = new Set(
  [...allChecks.filter(({ about }) => about !== 'card'), ...allInvariants]
    .filter(({ transports }) => transports?.includes('GRPC') ?? true)
    .map(({ id }) => id),
);

/** Returns the mutants of all transports as mutants of gRPC, which 0.1 does not have. */
export function mutantsOverGrpc(mutants: readonly MutantAgent[]): MutantAgent[] {
  return mutants
    .filter(
      ({ id, transports, violates }) =>
        transports === undefined &&
        !jsonMutations.has(id) &&
        [violates].flat().every((rule) => grpcRules.has(rule)),
    )
    .map((mutant) => ({
      ...mutant,
      id: `${mutant.id}-grpc`,
      versions: mutant.versions.filter((version) => version !== '0.1'),
      transports: ['GRPC'] as const,
    }))
    .filter(({ versions }) => versions.length > 0);
}
