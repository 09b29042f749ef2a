import { useLayoutEffect } from 'preact/hooks';
import { Tabs } from '../../components/tabs.tsx';
import { consoleInfo, selectedAgent } from '../../session/agents.ts';
import { NoAgent } from '../../session/no-agent.tsx';
import { TaskFilters } from './task-filters.tsx';
import { PushDeliveries } from './push-deliveries.tsx';
import { updateFilter, taskDetail, taskFilter, reloadFirstPage, openTask, stopFollowing } from './state.ts';
import { TaskDetailView } from './task-detail.tsx';
import { TaskTable } from './task-table.tsx';
import './tasks.css';

/** The tasks view: tasks of one agent, and the open one. */
export function TasksView() {
  if (!selectedAgent.value) return <NoAgent title="No agents yet" />;
  if (!consoleInfo.value?.hasPushDeliveries) return <Tasks agentId={selectedAgent.value.id} />;
  return (
    <div class="tasks-tabs">
      <Tabs
        label="Tasks and push notifications"
        tabs={[
          { id: 'tasks', title: 'Tasks' },
          { id: 'pushes', title: 'Push notifications' },
        ]}
        open={taskFilter.value.isPushes ? 'pushes' : 'tasks'}
        onOpen={(id) => updateFilter({ show: id === 'pushes' ? 'pushes' : undefined })}
      >
        {taskFilter.value.isPushes ? <PushDeliveries /> : <Tasks agentId={selectedAgent.value.id} />}
      </Tabs>
    </div>
  );
}

function Tasks({ agentId }: { agentId: string }) {
  const { state, contextId, taskId, isWithTests } = taskFilter.value;
  // Before the browser paints, so that tasks of the former filters or agent are never shown as those of these.
  useLayoutEffect(reloadFirstPage, [agentId, state, contextId, isWithTests]);
  useLayoutEffect(() => {
    if (taskId === '') taskDetail.value = undefined;
    else void openTask(agentId, taskId);
    return stopFollowing;
  }, [agentId, taskId]);
  return (
    <div class={taskId === '' ? 'tasks' : 'tasks tasks-open'}>
      <section class="tasks-main" aria-label="Tasks">
        <TaskFilters />
        <TaskTable openId={taskId} />
      </section>
      {taskId === '' ? null : <TaskDetailView />}
    </div>
  );
}
