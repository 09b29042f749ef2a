import { describePostgresReplicas } from './fixtures/postgres-replicas.ts';

describePostgresReplicas('PostgreSQL', { wakeUps: true });
