import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { loadLanguage } from '../words/language.ts'
import './styles/tokens.css'

const root = document.querySelector('#root')
if (root !== null) void start(root)

/** Words are read when a module is: their language comes before all of the dashboard. */
async function start(place: Element): Promise<void> {
  await loadLanguage()
  const { App } = await import('./App.tsx')
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
