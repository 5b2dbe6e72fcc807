import{O,Pe,$e}from"/console/assets/main-v4c6q549.js";var r=1e6;function We(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=$e(O(t),u,r);if(typeof e!=="number")return n;return Pe(n,$e(O(e),f,r))}
export{We};
