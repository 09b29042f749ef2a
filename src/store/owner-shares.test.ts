import { expect, it } from 'vitest';
import { OwnerShares } from './owner-shares.ts';
import { OwnerTasks, type TaskRecord } from './owner-tasks.ts';

class CountingMap extends Map<string, OwnerTasks> {
  scans = 0;

  override values(): MapIterator<OwnerTasks> {
    this.scans++;
    return super.values();
  }
}

/** An owner that always has a finished task. */
class FullOwner extends OwnerTasks {
  override oldestFinished(): TaskRecord {
    return {} as TaskRecord;
  }
}

it('finds owners above their share without a scan for each task', () => {
  const owners = new CountingMap();
  for (let n = 0; n < 1_000; n++) {
    const owner = new FullOwner(`${n}`);
    owner.bytes = 1_000 + n;
    owners.set(owner.owner, owner);
  }
  const shares = new OwnerShares({ maxTasks: 1_000, maxBytes: 1_000_000 }, owners);
  const sender = new FullOwner('new');
  let bytes = 1_000 * 1_499.5;
  for (let n = 0; n < 400; n++) {
    const owner = shares.chooseOwner(sender, { count: 0, bytes });
    if (!owner) throw new Error('no owner');
    expect(owner.bytes).toBeGreaterThan(bytes / 1_000);
    owner.bytes -= 500;
    bytes -= 500;
  }
  expect(owners.scans).toBeLessThan(5);
});
