import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { loadLanguage } from '../words/language.ts'
import './styles/tokens.css'

const root = document.querySelector('#root')
if (root !== null) void start(root)

/** Loads the language, then the dashboard, whose modules read their translations when they are imported. */
async function start(place: Element): Promise<void> {
  await loadLanguage()
  const { App } = await import('./App.tsx')
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
