import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';

const folder = new URL('../../docs/rules/', import.meta.url);

/** The text of a rule's page. */
export function rulePage(id: string): string {
  return readFileSync(new URL(`${id}.md`, folder), 'utf8');
}

/** The text below a heading of the second level, up to the next. */
export function section(page: string, heading: string): string {
  const [, text = ''] = page.split(`\n## ${heading}\n`);
  return text.split('\n## ')[0] ?? '';
}

/** The objects of every YAML block in a text. */
export function examples(text: string): readonly unknown[] {
  return [...text.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, yaml = '']) => loadAll(yaml));
}
