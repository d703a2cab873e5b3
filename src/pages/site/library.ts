import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addressOf, sections } from './navigation.ts'
import { renderPage, type RenderedPage } from './render.ts'

/** A documentation page, ready to be shown and searched. */
export interface LibraryPage extends RenderedPage {
  /** Its path below docs/ without the extension. */
  readonly name: string
  readonly address: string
  readonly section: string
  readonly markdown: string
}

/** The pages of docs/, loaded and rendered on first use. */
export class Library {
  readonly #folder: string
  #pages: Promise<ReadonlyMap<string, LibraryPage>> | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Returns all pages, keyed by name. They are in reading order, with refusals last. */
  async pages(): Promise<ReadonlyMap<string, LibraryPage>> {
    this.#pages ??= this.#read().catch((error: unknown) => {
      // The next reader tries again.
      this.#pages = undefined
      throw error
    })
    return await this.#pages
  }

  async find(name: string): Promise<LibraryPage | undefined> {
    return (await this.pages()).get(name)
  }

  /** Reads an image of the documentation; undefined if there is none with that name. */
  async picture(name: string): Promise<Buffer | undefined> {
    if (!/^[a-z0-9-]+\.(svg|png)$/.test(name)) return undefined
    return await readFile(join(this.#folder, 'pictures', name)).catch(() => undefined)
  }

  async #read(): Promise<ReadonlyMap<string, LibraryPage>> {
    const refusals = (await readdir(join(this.#folder, 'problems')))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `problems/${file.slice(0, -'.md'.length)}`)
    const pages = new Map<string, LibraryPage>()
    for (const [section, names] of [...sections, ['Refusals', refusals.toSorted()] as const]) {
      for (const name of names) {
        const markdown = await readFile(join(this.#folder, `${name}.md`), 'utf8')
        const rendered = await renderPage(name, markdown)
        pages.set(name, { ...rendered, name, address: addressOf(name), section, markdown })
      }
    }
    return pages
  }
}
