/**
 * Formats a log line for people: `08:15:30 info  gateway ready  gateway=shop/web`.
 *
 * @param json one line as the logger writes it; other text is returned unchanged
 */
export function formatLine(json: string): string {
  const record = parseRecord(json);
  if (record === undefined) return json;
  const { time, level, msg, ...pairs } = record;
  const shown = Object.entries(pairs).map(([key, value]) => `  ${key}=${formatValue(value)}`);
  return `${text(time).slice(11, 19)} ${text(level).padEnd(5)} ${text(msg)}${shown.join('')}\n`;
}

function parseRecord(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const plain = /^[\w./:@*%+,-]+$/;

function formatValue(value: unknown): string {
  return typeof value === 'string' && plain.test(value) ? value : JSON.stringify(value);
}
