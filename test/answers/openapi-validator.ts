import { Validator } from '@seriousme/openapi-schema-validator'

export async function validate(
  document: unknown,
): Promise<{ readonly errors: readonly unknown[]; readonly version: string | undefined }> {
  const validator = new Validator()
  const result = await validator.validate(document as Record<string, unknown>)
  const errors = result.valid ? [] : [result.errors]
  return { errors, version: validator.version }
}
