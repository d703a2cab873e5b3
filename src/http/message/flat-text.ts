/**
 * Returns a text, whose characters are bytes (latin1), in one piece. V8 keeps a joined text as a tree of its parts, and
 * walks that tree again for each longer text that contains it; so a text that is joined to others often should be flat.
 */
export function flatText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
