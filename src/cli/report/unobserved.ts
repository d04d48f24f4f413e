import type { Unobserved } from '../../core/graph/observed.ts';
import { quote } from '../../core/text/display.ts';

/** Why an answer is unknown. The only objects that commands do not observe are those that the credentials may not list. */
export function unobservedText({ kind, namespace }: Unobserved): string {
  const place = namespace === '' ? '' : ` in namespace ${quote(namespace)}`;
  return `objects of kind ${kind}${place} are not observed (no permission)`;
}
