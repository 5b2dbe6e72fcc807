interface TextFieldProps {
  label: string;
  name: string;
  isRequired?: boolean;
  type?: "text" | "password" | "datetime-local";
  pattern?: string;
  mode?: "text" | "decimal" | "numeric";
  value?: string;
  placeholder?: string;
}

/** A field of a form, with its label above. */
export function TextField(props: TextFieldProps) {
  const { label, name, isRequired = false, type = "text", pattern, mode = "text", value = "", placeholder } = props;
  return (
    <label className="block min-w-0">
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <input
        name={name}
        type={type}
        required={isRequired}
        inputMode={mode}
        defaultValue={value}
        {...(pattern !== undefined && { pattern })}
        {...(placeholder !== undefined && { placeholder })}
        maxLength={4_000}
        autoComplete="off"
        spellCheck={false}
        className="control w-full"
      />
    </label>
  );
}

/** A field for several lines. */
export function LinesField({
  label,
  name,
  value,
  placeholder,
}: Pick<TextFieldProps, "label" | "name" | "value" | "placeholder">) {
  return (
    <label className="block min-w-0">
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <textarea
        name={name}
        rows={3}
        defaultValue={value}
        placeholder={placeholder}
        maxLength={4_000}
        autoComplete="off"
        spellCheck={false}
        className="control w-full"
      />
    </label>
  );
}
