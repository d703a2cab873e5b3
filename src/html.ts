const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML, so that none of it is markup. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** Renders a complete document; `head` and `body` are HTML, `title` is plain text that is escaped here. */
export function htmlDocument(parts: {
  readonly title: string
  readonly head: string
  readonly body: string
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(parts.title)} · Intercept</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${parts.head}
</head>
<body>
${parts.body}
</body>
</html>
`
}
