/** The tools of the servers in this section. */

const toolCount = 500;

export const tools = Array.from({ length: toolCount }, (_, index) => ({
  name: `get_record_${index}`,
  description: `Returns the record ${index} of a table with its fields, or those that were asked for.`,
  inputSchema: {
    type: "object" as const,
    properties: { id: { type: "string", description: "The record's id." }, fields: { type: "array" } },
    required: ["id"],
  },
}));

export const callResult = { content: [{ type: "text" as const, text: "The record." }] };
