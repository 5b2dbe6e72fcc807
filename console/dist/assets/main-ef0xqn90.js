import{E,Ie,Xe}from"/console/assets/main-89p7x6q3.js";var r=1e6;function Ze(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=Xe(E(t),u,r);if(typeof e!=="number")return n;return Ie(n,Xe(E(e),f,r))}
export{Ze};
