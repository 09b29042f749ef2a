import { describePostgresReplicas } from './fixtures/postgres-replicas.ts';

describePostgresReplicas('PostgreSQL without wake-ups', { wakeUps: false });
