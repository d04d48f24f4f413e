/** Returns a text without these characters at its end. A regular expression such as `/-+$/` would read each run of them inside again for each of its characters. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
