import{M,De,Qe}from"/console/assets/main-y3n1rj56.js";var r=1e6;function ut(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=Qe(M(t),u,r);if(typeof e!=="number")return n;return De(n,Qe(M(e),f,r))}
export{ut};
