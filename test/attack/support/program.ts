import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';

/** Runs a file of the project as a program of its own. */
export function spawnProgram(...argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

/**
 * Runs an attacker until it ends; returns its exit code. It is a process of its own, so that the witness does not wait for it. Attackers
 * are on other machines, so this one has a low priority: it must not take the processor from those that it attacks.
 */
export async function runAttacker(...argv: readonly string[]): Promise<number | null> {
  const attacker = spawnProgram(...argv);
  if (attacker.pid !== undefined) setPriority(attacker.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const [code] = (await once(attacker, 'close')) as [number | null];
  return code;
}

/** The first thing that a program prints. */
export async function firstOutput({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('it has no output');
  const [bytes] = (await once(stdout, 'data')) as [Buffer];
  return bytes.toString();
}
