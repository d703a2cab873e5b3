import type { Plugin } from 'vite'
export function fakeApi(): Plugin {
  return { name: 'fake' }
}
