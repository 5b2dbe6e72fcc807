import { attachmentUrl } from "../attachments.ts";
import { type Check, isAnything, isFlag, isLike, isList, isOneOf, isRecord, isText, isTokenLimit } from "../check.ts";
import { asObject } from "../json.ts";
import { both, list, tolerantRecord, type Shape, tagged, textOr, value, values } from "../shape.ts";

/** The differences between providers in the shape of a request. */
export interface ResponsesRules {
  /** Unknown members are refused, inside items as well. */
  readonly strict: boolean;
  readonly required: readonly string[];
  /** Members that are this provider's own, or looked at more closely here. */
  readonly members: { readonly [name: string]: Check };
  /** Content parts of a user's message beyond text, image and file. */
  readonly partTypes?: readonly string[];
  /** Further items, which are taken as they are. */
  readonly otherItems?: readonly string[];
  /** Tools that run at the provider. */
  readonly hostedTools: readonly string[];
  /** A tool's result may be a list of parts, not only a text. */
  readonly resultParts: boolean;
  /** A schema for the answer needs a name. */
  readonly schemaNamed: boolean;
  readonly efforts: readonly string[];
}

const isToolName = isLike(/^[a-zA-Z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ and -");

type Members = { readonly [name: string]: Shape };

/** The shape of a whole request. */
export function requestShape(rules: ResponsesRules): Shape {
  const members = {
    ...values({
      model: isText,
      instructions: isText,
      previous_response_id: isText,
      max_output_tokens: isTokenLimit,
      parallel_tool_calls: isFlag,
      store: isFlag,
      stream: isFlag,
      metadata: isRecord,
    }),
    ...values(rules.members),
    input: textOr(list(itemShape(rules))),
    tools: list(toolShape(rules)),
    tool_choice: toolChoice(rules),
    text: textShape(rules),
    reasoning: tolerantRecord(
      values({
        effort: isOneOf(...rules.efforts),
        summary: isOneOf("auto", "concise", "detailed"),
        generate_summary: isOneOf("auto", "concise", "detailed"),
      }),
      { open: !rules.strict },
    ),
  };
  return tolerantRecord(members, { required: rules.required, open: !rules.strict });
}

function itemShape(rules: ResponsesRules): Shape {
  const item = (members: Members, required: readonly string[]): Shape =>
    tolerantRecord({ type: value(isText), status: value(isText), ...members }, { required, open: !rules.strict });
  return tagged(
    {
      message: messageShape(rules, item),
      function_call: item(
        {
          id: idOf(rules, "fc"),
          ...values({ call_id: isText, name: isToolName, arguments: isText, namespace: isText }),
        },
        ["call_id", "name", "arguments"],
      ),
      function_call_output: item({ id: value(isText), call_id: value(isText), output: resultShape(rules) }, [
        "call_id",
        "output",
      ]),
      reasoning: item(
        { id: idOf(rules, "rs"), summary: list(summaryPart), content: value(isList), encrypted_content: value(isText) },
        ["summary"],
      ),
      item_reference: item({ id: value(isText) }, ["id"]),
      custom_tool_call: item({ id: idOf(rules, "ctc"), ...values({ call_id: isText, name: isText, input: isText }) }, [
        "call_id",
        "name",
        "input",
      ]),
      custom_tool_call_output: item({ id: value(isText), call_id: value(isText), output: resultShape(rules) }, [
        "call_id",
        "output",
      ]),
      ...Object.fromEntries((rules.otherItems ?? []).map((type) => [type, value(isRecord)] as const)),
    },
    "message",
  );
}

const summaryPart = tolerantRecord(values({ type: isOneOf("summary_text"), text: isText }), { required: ["text"] });

/** The strict provider knows its own ids by their beginning. */
function idOf({ strict }: ResponsesRules, prefix: string): Shape {
  return value(strict ? isLike(new RegExp(`^${prefix}`), `an id that begins with '${prefix}'`) : isText);
}

function messageShape(rules: ResponsesRules, item: (members: Members, required: readonly string[]) => Shape): Shape {
  const role = value(isOneOf("user", "assistant", "system", "developer"));
  const spoken = item({ role, content: value(isAnything), id: value(isText), phase: value(isText) }, [
    "role",
    "content",
  ]);
  const asked = contentShape(inputParts(rules));
  const answered = both(tolerantRecord({ id: idOf(rules, "msg") }, { open: true }), contentShape(outputParts(rules)));
  return both(spoken, (given, field) => {
    return (asObject(given)["role"] === "assistant" ? answered : asked)(given, field);
  });
}

function contentShape(parts: Members): Shape {
  return tolerantRecord({ content: textOr(list(tagged(parts))) }, { open: true });
}

function inputParts({ strict, partTypes = [] }: ResponsesRules): Members {
  const part = (members: Members, required: readonly string[]): Shape =>
    tolerantRecord(
      { type: value(isText), prompt_cache_breakpoint: value(isRecord), ...members },
      { required, open: !strict },
    );
  const further = partTypes.map((type) => [type, value(isRecord)] as const);
  return {
    input_text: part({ text: value(isText) }, ["text"]),
    input_image: part({ image_url: attachmentUrl, file_id: value(isText), detail: value(isText) }, []),
    input_file: part(values({ file_data: isText, file_id: isText, file_url: isText, filename: isText }), []),
    ...Object.fromEntries(further),
  };
}

function outputParts({ strict }: ResponsesRules): Members {
  const text = tolerantRecord(values({ type: isText, text: isText, annotations: isList, logprobs: isList }), {
    required: ["text"],
    open: !strict,
  });
  return {
    output_text: text,
    refusal: tolerantRecord(values({ type: isText, refusal: isText }), { required: ["refusal"] }),
  };
}

function resultShape(rules: ResponsesRules): Shape {
  return rules.resultParts ? textOr(list(tagged(inputParts(rules)))) : value(isText);
}

/** Functions are flat here: name and parameters stand beside the type. */
function toolShape({ strict, hostedTools }: ResponsesRules): Shape {
  const members = values({
    type: isText,
    name: isToolName,
    description: isText,
    parameters: isRecord,
    strict: isFlag,
    output_schema: isRecord,
    defer_loading: isFlag,
    allowed_callers: isList,
  });
  const hosted = hostedTools.map((type) => [type, value(isRecord)] as const);
  return tagged({
    function: tolerantRecord(members, { required: ["name"], open: !strict }),
    ...Object.fromEntries(hosted),
  });
}

function toolChoice({ strict, hostedTools }: ResponsesRules): Shape {
  const hosted = hostedTools.map((type) => [type, value(isRecord)] as const);
  const named = tagged({
    function: tolerantRecord(values({ type: isText, name: isText }), { required: ["name"], open: !strict }),
    allowed_tools: value(isRecord),
    ...Object.fromEntries(hosted),
  });
  const word = value(isOneOf("none", "auto", "required"));
  return (given, field) => (typeof given === "string" ? word(given, field) : named(given, field));
}

function textShape({ strict, schemaNamed }: ResponsesRules): Shape {
  const schema = tolerantRecord(
    values({ type: isText, name: isText, schema: isRecord, strict: isFlag, description: isText }),
    {
      required: schemaNamed ? ["name", "schema"] : ["schema"],
      open: !strict,
    },
  );
  const plain = tolerantRecord(values({ type: isText }));
  return tolerantRecord(
    {
      format: tagged({ text: plain, json_object: plain, json_schema: schema }),
      verbosity: value(isOneOf("low", "medium", "high")),
    },
    { open: !strict },
  );
}
