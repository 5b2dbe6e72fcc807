interface SelectFieldProps<Value extends string> {
  label: string;
  value: Value;
  /** Value → text. */
  options: Readonly<Partial<Record<Value, string>>>;
  /** Without it, the field is read from its form by its name. */
  onChange?: (value: Value) => void;
  name?: string;
  className?: string;
}

/** A choice between some words, with its label above. */
export function SelectField<Value extends string>({
  label,
  value,
  options,
  onChange,
  name,
  className = "",
}: SelectFieldProps<Value>) {
  return (
    <label className={`block min-w-0 ${className}`}>
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <select
        {...(name !== undefined && { name })}
        {...(onChange === undefined
          ? { defaultValue: value }
          : { value, onChange: (event) => onChange(event.target.value as Value) })}
        className="control select-arrow w-full truncate pr-8"
      >
        {Object.entries(options).map(([each, text]) => (
          <option key={each} value={each}>
            {String(text)}
          </option>
        ))}
      </select>
    </label>
  );
}
