import{N,Ie,Xe}from"/console/assets/main-ya459syc.js";var r=1e6;function Ze(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=Xe(N(t),u,r);if(typeof e!=="number")return n;return Ie(n,Xe(N(e),f,r))}
export{Ze};
