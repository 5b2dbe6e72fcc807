import{O,Fe,et}from"/console/assets/main-eq0ahx2y.js";var r=1e6;function tt(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=et(O(t),u,r);if(typeof e!=="number")return n;return Fe(n,et(O(e),f,r))}
export{tt};
