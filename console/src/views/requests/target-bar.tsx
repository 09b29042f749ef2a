import {
  definesOperation,
  dialectOfVariant,
  type OperationVariant,
} from '../../../../src/dialects/http/operation-request.ts';
import type { Operation } from '../../../../src/protocol/agent.ts';
import type { ProtocolVersion, Transport } from '../../../../src/protocol/card.ts';
import { transportName } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Select, TextField } from '../../components/form-fields.tsx';
import { AgentPicker } from '../../session/agent-picker.tsx';
import type { EditedRequest, RequestDraft } from './draft/request-draft.ts';
import { Editable } from './editable.tsx';
import { operationNames } from './operation-names.ts';
import { changeDraft, checked, draftAgent, exchange, retarget, sendDraft, stopSending } from './state.ts';

const versions: readonly ProtocolVersion[] = ['1.0', '0.3', '0.2', '0.1'];
const transports: readonly Transport[] = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

/** Selects agent, version, transport and operation, and sends the request. */
export function TargetBar({ request: { draft } }: { request: EditedRequest }) {
  const { operation, version, transport } = draft;
  const isOffered = (variant: Partial<OperationVariant>): boolean =>
    draftAgent.value?.endpoints.some(
      (each) =>
        each.version === (variant.version ?? each.version) &&
        each.transport === (variant.transport ?? each.transport),
    ) ?? true;
  const mark = (text: string, variant: Partial<OperationVariant>): string =>
    isOffered(variant) ? text : `${text} (not on the card)`;
  return (
    <div class="requests-target">
      <div class="requests-choices">
        <AgentPicker />
        <Editable>
          <Select
            label="Version"
            value={version}
            onValue={(value) => {
              const next = value as ProtocolVersion;
              retarget({
                version: next,
                transport: dialectOfVariant({ version: next, transport }) ? transport : 'JSONRPC',
              });
            }}
            choices={versions.map((each) => ({ value: each, text: mark(each, { version: each }) }))}
          />
          <Select
            label="Transport"
            value={transport}
            onValue={(value) => retarget({ transport: value as Transport })}
            choices={transports
              .filter((each) => dialectOfVariant({ version, transport: each }))
              .map((each) => ({
                value: each,
                text: mark(transportName(each), { version, transport: each }),
              }))}
          />
          <Select
            label="Operation"
            value={operation}
            onValue={(value) => retarget({ operation: value as Operation })}
            choices={(Object.keys(operationNames) as Operation[])
              .filter((each) => definesOperation({ version, transport, operation: each }))
              .map((each) => ({ value: each, text: operationNames[each] }))}
          />
        </Editable>
      </div>
      <div class="requests-line">
        <Editable>
          <Select
            label="HTTP method"
            isLabelHidden
            value={draft.method}
            onValue={(method) => changeDraft({ method: method as RequestDraft['method'] })}
            choices={['GET', 'POST', 'DELETE'].map((each) => ({ value: each, text: each }))}
          />
          <div class="requests-url">
            <TextField
              label="URL"
              isLabelHidden
              type="text"
              value={draft.url}
              onValue={(url) => changeDraft({ url })}
            />
          </div>
          {exchange.value?.isRunning ? (
            <Button kind="danger" onClick={stopSending}>
              Stop
            </Button>
          ) : (
            <Button kind="main" title="Ctrl + Enter" onClick={() => void sendDraft()}>
              {checked.value.problems.some(({ level }) => level === 'error') ? 'Send anyway' : 'Send'}
            </Button>
          )}
        </Editable>
      </div>
    </div>
  );
}
