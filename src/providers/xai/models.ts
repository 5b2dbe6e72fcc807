import { openaiModelList } from "../shared/model-list.ts";

export const models = openaiModelList("/models");
