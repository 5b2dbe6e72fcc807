interface SelectFieldProps<Value extends string> {
  label: string;
  value: Value;
  /** Value → text. */
  options: Readonly<Partial<Record<Value, string>>>;
  onChange: (value: Value) => void;
  className?: string;
}

/** A choice between some words, with its label above. */
export function SelectField<Value extends string>({
  label,
  value,
  options,
  onChange,
  className = "",
}: SelectFieldProps<Value>) {
  return (
    <label className={`block min-w-0 ${className}`}>
      <span className="mb-1 block text-xs text-muted">{label}</span>
      <select
        value={value}
        onChange={(event) => onChange(event.target.value as Value)}
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
