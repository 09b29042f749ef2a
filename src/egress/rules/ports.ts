/** A port or an inclusive range of ports. */
export type PortRange = number | readonly [from: number, to: number];

/**
 * Ports above 1023 of databases, brokers, caches and orchestration. Requests with untrusted content must not reach them,
 * even on the public internet.
 */
const servicePorts: readonly PortRange[] = [
  [1433, 1434],
  1521,
  1883,
  2049,
  2181,
  [2375, 2380],
  3128,
  3306,
  3389,
  4222,
  4369,
  5432,
  [5671, 5672],
  [5900, 5910],
  5984,
  [6000, 6063],
  [6379, 6380],
  6443,
  8500,
  8883,
  9042,
  9092,
  9200,
  9300,
  10_250,
  10_255,
  11_211,
  [27_017, 27_019],
];

/** Returns true if a range contains the port. */
export function isPortInRanges(port: number, ranges: readonly PortRange[]): boolean {
  return ranges.some((range) =>
    typeof range === 'number' ? port === range : range[0] <= port && port <= range[1],
  );
}

/** Returns true for ports on which only web servers are expected. */
export function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && !isPortInRanges(port, servicePorts));
}
