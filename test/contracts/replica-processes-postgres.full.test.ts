import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';
import { describeReplicaProcesses } from './replica-processes.ts';

const server = usePostgres(true);

describeReplicaProcesses('PostgreSQL', (test) => `${server().url}?schema=${test}`, {
  isSkipped: !hasPostgres,
});
