import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/query-client.ts";
// oxlint-disable-next-line import/no-unassigned-import -- it puts them into this file
import "./app/common.ts";
import { preloadPage } from "./app/pages.ts";
import { router } from "./app/router.tsx";

preloadPage(location.pathname);

const root = document.querySelector("#root");
if (root === null) throw new Error("the page has no #root");
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
