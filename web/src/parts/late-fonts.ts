const faces = ['400 1em "Instrument Sans"', '400 1em "IBM Plex Mono"', '500 1em "IBM Plex Mono"']

/** Loads the fonts, then shows them all at once; the next visit shows them from the start. */
export async function showFonts(): Promise<void> {
  const { dataset } = document.documentElement
  if (dataset['fonts'] !== undefined) return
  await Promise.all(faces.map((face) => document.fonts.load(face)))
  dataset['fonts'] = ''
  try {
    localStorage.setItem('fonts', 'loaded')
  } catch {
    // Storage is unavailable, so the next visit loads the fonts late again.
  }
}
