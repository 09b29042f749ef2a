import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder with scenario files of Solace Agent Mesh, beside the checkout; tests that need it are skipped without it. */
export const meshScenarioFolder = fileURLToPath(
  new URL('../../../../shared/mesh/scenarios/', import.meta.url),
);

/** Whether {@link meshScenarioFolder} exists. */
export const hasMeshScenarios = existsSync(meshScenarioFolder);
if (!hasMeshScenarios) console.log('skipped: the scenario files of the mesh are not beside this checkout');

/** Names of the files that must pass unchanged. */
export const meshScenarioFiles = [
  'agent_card_custom_headers',
  'auth_oauth2_success',
  'auth_oauth2_token_fetch_failure',
  'auth_static_apikey',
  'auth_static_bearer',
  'convert_progress_updates',
  'http_error_500',
  'inbound_artifact',
  'outbound_artifact',
  'remote_crash_no_response',
  'simple_passthrough',
  'streaming_response',
].map((name) => `test_proxy_${name}.yaml`);
