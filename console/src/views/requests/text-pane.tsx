import { useRef } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { listRequestMembers, type RequestMember } from '../../../../src/dialects/http/request-members.ts';
import { parseJsonOrUndefined } from '../../../../src/primitives/json.ts';
import { BodyEditor } from './body-editor.tsx';
import { insertMember } from './draft/insert-member.ts';
import { type EditedRequest, formatBody, type RequestDraft } from './draft/request-draft.ts';
import { operationNames } from './operation-names.ts';
import { changeDraft, checked } from './state.ts';

/** The body as text, with line numbers, and the members that the version defines. */
export function TextPane({ request: { draft } }: { request: EditedRequest }) {
  const lines = useRef<HTMLDivElement>(null);
  const parsed = parseJsonOrUndefined(draft.body);
  const marked = new Map(
    checked.value.problems.flatMap(({ position, level }) => (position ? [[position.line, level]] : [])),
  );
  const count = draft.body.split('\n').length;
  return (
    <div class="requests-text-pane">
      {draft.method === 'POST' ? (
        <>
          <div class="requests-text-bar">
            <span>{draft.transport === 'GRPC' ? 'Message as ProtoJSON' : 'Body, sent as written'}</span>
            <Button
              small
              kind="quiet"
              disabled={parsed === undefined}
              onClick={() => changeDraft({ body: formatBody(parsed) })}
            >
              Format
            </Button>
          </div>
          <div class="requests-text">
            <div class="requests-lines" aria-hidden="true" ref={lines}>
              {count <= maxNumbered
                ? Array.from({ length: count }, (_, at) => (
                    <div
                      key={at}
                      class={marked.has(at + 1) ? `requests-line-${marked.get(at + 1)}` : undefined}
                    >
                      {at + 1}
                    </div>
                  ))
                : null}
            </div>
            <BodyEditor
              draft={draft}
              onScroll={(top) => {
                if (lines.current) lines.current.scrollTop = top;
              }}
            />
          </div>
        </>
      ) : (
        <p class="requests-note">
          {draft.method} has no body. The members below are in the path and the query of the URL.
        </p>
      )}
      <Members draft={draft} isInsertable={draft.method === 'POST' && parsed !== undefined} />
    </div>
  );
}

/** Lines up to which each has a number. */
const maxNumbered = 5_000;

function Members({ draft, isInsertable }: { draft: RequestDraft; isInsertable: boolean }) {
  const members = listRequestMembers(draft);
  const { version, operation, transport } = draft;
  return (
    <div class="requests-members" tabIndex={0} role="region" aria-label="Members">
      <table>
        <caption>
          Members of {operationNames[operation].toLowerCase()} in {version}
          {transport === 'JSONRPC' ? ', below params' : ''}
        </caption>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Type</th>
            <th scope="col">Rule</th>
            {isInsertable ? (
              <th scope="col">
                <span class="visually-hidden">Insert</span>
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {members.map((each) => (
            <Member key={each.path} member={each} draft={draft} isInsertable={isInsertable} />
          ))}
        </tbody>
      </table>
      {members.length === 0 ? <p class="requests-note">The operation has no members.</p> : null}
    </div>
  );
}

function Member({
  member,
  draft,
  isInsertable,
}: {
  member: RequestMember;
  draft: RequestDraft;
  isInsertable: boolean;
}) {
  const { path, type, isRequired, rule } = member;
  return (
    <tr>
      <th scope="row">
        <code>{path}</code> {isRequired ? <Badge tone="amber">required</Badge> : null}
      </th>
      <td>{type}</td>
      <td>{rule}</td>
      {isInsertable ? (
        <td>
          <Button
            small
            kind="quiet"
            aria-label={`Insert ${path}`}
            onClick={() => changeDraft({ body: insertMember(draft, member) })}
          >
            Insert
          </Button>
        </td>
      ) : null}
    </tr>
  );
}
