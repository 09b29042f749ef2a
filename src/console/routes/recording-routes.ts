import { emptyResponse, type ApiRoutes } from '../api-routes.ts';
import type { Recordings } from '../sessions/recordings.ts';
import { parseRequestBody, renameSchema } from './request-schemas.ts';

/** Routes of recordings. */
export function recordingRoutes(recordings: Recordings): ApiRoutes {
  return {
    'GET recordings': async () => ({ json: await recordings.list() }),
    'DELETE recordings': async () => {
      await recordings.clear();
      return emptyResponse;
    },
    'GET recordings/{}': async (_request, id = '') => ({ json: { records: await recordings.read(id) } }),
    'POST recordings/{}': async ({ body }, id = '') => {
      await recordings.rename(id, parseRequestBody(renameSchema, body).name);
      return emptyResponse;
    },
    'DELETE recordings/{}': async (_request, id = '') => {
      await recordings.remove(id);
      return emptyResponse;
    },
  };
}
