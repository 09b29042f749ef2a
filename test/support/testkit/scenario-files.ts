import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

function scenario(id: string, answer: string, more = ''): string {
  return `test_case_id: ${id}
tags: [${id}]
gateway_input:
  target_agent_name: Someone
  parts:
    - { type: text, text: hello }
downstream_a2a_agent_responses:
  - kind: task
    status: { state: completed, message: { role: agent, parts: [{ kind: text, text: Hi }] } }
expected_gateway_output:
  - type: final_response
    content_parts: [{ type: text, text_exact: ${answer} }]
${more}`;
}

/** Writes scenario files into a folder: one that passes, one that fails, one that is skipped and one that is invalid. */
export function writeScenarios(folder: string): void {
  writeFileSync(join(folder, 'right.yaml'), scenario('right', 'Hi'));
  writeFileSync(join(folder, 'wrong.yaml'), scenario('wrong', 'Ho'));
  writeFileSync(join(folder, 'model.yaml'), scenario('model', 'Hi', 'llm_interactions: [{}]\n'));
  writeFileSync(join(folder, 'odd.yml'), scenario('odd', 'Hi', 'surprise: 1\n'));
}
