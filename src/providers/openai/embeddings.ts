import { embeddingsOperation } from "../shared/embeddings-operation.ts";

export const embeddings = embeddingsOperation({ path: "/embeddings", drops: [], renames: {} });
